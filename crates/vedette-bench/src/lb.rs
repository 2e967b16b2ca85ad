//! Parameters of `vedette bench lb`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench::balancers::{BalancersOptions, Named, row_names};
use clap::Args;

/// The balancers that are measured without further arguments.
const OTHERS: [&str; 2] = ["haproxy", "nginx"];
const OWN: &str = "vedette";

#[derive(Debug, Args)]
pub(crate) struct Lb {
    /// How long each run is measured.
    #[arg(long, default_value = "2", value_parser = seconds)]
    seconds: Duration,
    /// Runs of each balancer in each row; the table has medians, the smallest and the largest.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    #[arg(long, value_name = "WORD", value_delimiter = ',', help = rows_help())]
    rows: Vec<String>,
    /// Another program: vedette, haproxy or nginx instead of the installed one, or a further column
    /// with a name such as haproxy-3.4. May be given several times.
    #[arg(long = "balancer", value_name = "NAME=PATH", value_parser = named)]
    balancers: Vec<Named>,
    /// Write the results to this file, with those of each run.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

fn rows_help() -> String {
    format!("Only rows whose names contain this word: {}", row_names().join(", "))
}

impl Lb {
    /// A program that the user names must exist; of the others, those that do are measured.
    pub(crate) fn options(&self) -> anyhow::Result<BalancersOptions> {
        if let Some(named) = self.balancers.iter().find(|named| !named.path.exists()) {
            bail!("--balancer {}: there is no program {}", named.name, named.path.display());
        }
        let own = std::env::current_exe()
            .and_then(|path| path.canonicalize())
            .context("cannot tell where vedette is installed")?
            .with_file_name(OWN);
        Ok(BalancersOptions {
            time: self.seconds,
            repeat: self.repeat.into(),
            rows: self.rows.clone(),
            balancers: columns(own, &self.balancers),
        })
    }
}

/// The balancers by default, with the user's in their places and then the user's others.
fn columns(own: PathBuf, told: &[Named]) -> Vec<Named> {
    let installed = OTHERS.map(|name| Named { name: name.to_owned(), path: name.into() });
    let own = Named { name: OWN.to_owned(), path: own };
    let mut columns: Vec<Named> = std::iter::once(own).chain(installed).collect();
    for named in told {
        match columns.iter_mut().find(|column| column.name == named.name) {
            Some(column) => column.path.clone_from(&named.path),
            None => columns.push(named.clone()),
        }
    }
    columns
}

fn named(text: &str) -> Result<Named, String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok(Named { name: name.to_owned(), path: path.into() })
        }
        _ => Err("a name and a program, such as haproxy=/opt/haproxy/sbin/haproxy".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "seconds from 0.1 to 600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_installed_balancers_and_those_of_the_user() {
        let told = [named("nginx=/n").unwrap(), named("haproxy-3.4=/h").unwrap()];
        let columns: Vec<String> = columns("/bin/vedette".into(), &told)
            .iter()
            .map(|one| format!("{}={}", one.name, one.path.display()))
            .collect();
        let expected = ["vedette=/bin/vedette", "haproxy=haproxy", "nginx=/n", "haproxy-3.4=/h"];
        assert_eq!(columns, expected);
    }

    #[test]
    fn arguments_that_are_refused() {
        for text in ["haproxy", "=x", "haproxy="] {
            assert!(named(text).is_err(), "{text}");
        }
        for text in ["0", "0.05", "-1", "nan", "601", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.2"), Ok(Duration::from_millis(200)));
    }
}
