//! Which VIPs the engine owns: what the server said last, also after a restart without it.

use std::collections::BTreeSet;

use anyhow::Context;

use super::Running;
use super::folder::Owns;

impl Running {
    /// Uses the stored placement. An engine that has never run a configuration owns nothing until the server says
    /// so; one whose server has never placed VIPs announces all.
    pub(super) fn own_stored(&mut self) -> anyhow::Result<()> {
        let stored = self.folder.placement().unwrap_or_else(|error| {
            tracing::error!("no VIP is announced until the server places them again: {error:#}");
            Some(Owns::default())
        });
        self.owns = match stored {
            None if self.folder.configuration()?.is_none() => Some(Owns::default()),
            stored => stored,
        };
        if let Some(owns) = self.owns.as_ref().filter(|owns| owns.generation > 0) {
            tracing::info!(generation = owns.generation, "VIPs of this engine: [{}]", listed(owns));
        }
        self.engine.own(self.owns.as_ref().map(|owns| owns.vips.clone()));
        Ok(())
    }

    /// Owns these VIPs, unless the engine knows something newer. They are announced even if the disk refuses them.
    pub(super) fn place(&mut self, generation: u64, vips: &str) -> anyhow::Result<()> {
        let vips: BTreeSet<_> =
            serde_json::from_str(vips).context("the server sent no list of VIPs")?;
        if self.owns.as_ref().is_some_and(|owns| owns.generation > generation) {
            tracing::warn!(generation, "an older placement of VIPs is ignored");
            return Ok(());
        }
        let owns = Owns { generation, vips };
        if self.owns.as_ref().is_none_or(|before| before.vips != owns.vips) {
            tracing::info!(generation, "VIPs of this engine: [{}]", listed(&owns));
        }
        self.engine.own(Some(owns.vips.clone()));
        if self.owns.as_ref() != Some(&owns)
            && let Err(error) = self.folder.keep_placement(&owns)
        {
            tracing::error!(
                "a restart without the server will use the placement before: {error:#}"
            );
        }
        self.owns = Some(owns);
        Ok(())
    }

    /// Generation of the placement and a list of the VIPs (JSON), as the engine reports them to the server.
    pub(super) fn owning(&self) -> anyhow::Result<(u64, String)> {
        match &self.owns {
            Some(owns) => Ok((owns.generation, serde_json::to_string(&owns.vips)?)),
            None => Ok((0, "[]".to_owned())),
        }
    }
}

fn listed(owns: &Owns) -> String {
    owns.vips.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
