//! Requests to a cluster, and the meaning of responses for the caller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::policies::timestamp_generator::TimestampGenerator;
use scylla::serialize::row::SerializeRow;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::value::Row as Cells;

use super::super::at_most;
use super::super::moments::Moments;
use super::address::Address;
use history::{Error, Fault};

/// Timeout after which a node that accepts no connection is unavailable.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest until a session is there.
const OPEN_WITHIN: Duration = Duration::from_secs(8);
/// Longest that a request takes with all its attempts: readers of history wait for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A node that hangs is asked whether it lives, and left when it does not answer.
const ALIVE_EVERY: Duration = Duration::from_secs(3);

impl TimestampGenerator for Moments {
    fn next_timestamp(&self) -> i64 {
        self.next()
    }
}

/// A session with a cluster; it finds nodes that come back by itself.
pub(crate) struct Link {
    session: Session,
    location: String,
}

impl Link {
    pub(crate) async fn open(address: &Address, moments: Arc<Moments>) -> Result<Self, Error> {
        let location = address.location();
        let profile = ExecutionProfile::builder()
            .consistency(address.consistency)
            .request_timeout(Some(ANSWER_WITHIN))
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(&address.nodes)
            .connection_timeout(CONNECT_WITHIN)
            .keepalive_interval(ALIVE_EVERY)
            .keepalive_timeout(ALIVE_EVERY)
            .keyspaces_to_fetch([&address.keyspace])
            .fetch_full_schema_metadata(false)
            .timestamp_generator(moments)
            .default_execution_profile_handle(profile.into_handle());
        if let Some((name, password)) = &address.user {
            builder = builder.user(name, password);
        }
        if let Some(name) = &address.datacenter {
            builder = builder.prefer_datacenter(name.clone());
        }
        builder = builder.tls_context(address.tls.clone());
        let session = match tokio::time::timeout(OPEN_WITHIN, builder.build()).await {
            Ok(Ok(session)) => session,
            Ok(Err(error)) => return Err(away(&location, &error)),
            Err(late) => return Err(away(&location, &late)),
        };
        let link = Self { session, location };
        address.fits(&link.centres().keys().map(String::as_str).collect())?;
        Ok(link)
    }

    /// Nodes and keyspace, for people.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// How many nodes each data centre has.
    pub(crate) fn centres(&self) -> BTreeMap<String, usize> {
        let mut centres = BTreeMap::new();
        let state = self.session.get_cluster_state();
        for centre in state.get_nodes_info().iter().filter_map(|node| node.datacenter.clone()) {
            *centres.entry(centre).or_default() += 1;
        }
        centres
    }

    /// Runs a statement without parameters; gives its rows.
    pub(crate) async fn ask(&self, cql: &str) -> Result<Vec<Cells>, Error> {
        let answer = self.session.query_unpaged(cql, ()).await;
        let answer = answer.map_err(|error| away(&self.location, &error))?;
        if !answer.is_rows() {
            return Ok(Vec::new());
        }
        let rows = answer.into_rows_result().map_err(|error| away(&self.location, &error))?;
        let rows = rows.rows::<Cells>().map_err(|error| away(&self.location, &error))?;
        rows.collect::<Result<_, _>>().map_err(|error| away(&self.location, &error))
    }

    /// Prepares a statement. All of ours may be run again when an answer got lost.
    pub(crate) async fn prepare(&self, cql: String) -> Result<PreparedStatement, Error> {
        let prepared = self.session.prepare(cql).await;
        let mut prepared = prepared.map_err(|error| away(&self.location, &error))?;
        prepared.set_is_idempotent(true);
        Ok(prepared)
    }

    pub(crate) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<(), Error> {
        let answer = self.session.execute_unpaged(statement, values).await;
        answer.map(drop).map_err(|error| away(&self.location, &error))
    }

    /// Runs an insert for each row. They share a partition, so that it is one write for the nodes.
    pub(crate) async fn insert<R: SerializeRow>(
        &self,
        statement: &PreparedStatement,
        rows: Vec<R>,
    ) -> Result<(), Error> {
        if let [row] = rows.as_slice() {
            let answer = self.session.execute_unpaged(statement, row).await;
            return answer.map(drop).map_err(|error| self.refused_rows(&error));
        }
        let mut batch = Batch::new(BatchType::Unlogged);
        for _ in &rows {
            batch.append_statement(statement.clone());
        }
        batch.set_is_idempotent(true);
        let answer = self.session.batch(&batch, rows).await;
        answer.map(drop).map_err(|error| self.refused_rows(&error))
    }

    /// All rows of a question, page by page.
    pub(crate) async fn rows(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<Vec<Cells>, Error> {
        let pages = self.session.execute_iter(statement.clone(), values).await;
        let pages = pages.map_err(|error| away(&self.location, &error))?;
        let mut stream =
            pages.rows_stream::<Cells>().map_err(|error| away(&self.location, &error))?;
        let mut rows = Vec::new();
        while let Some(row) =
            stream.try_next().await.map_err(|error| away(&self.location, &error))?
        {
            rows.push(row);
            at_most(rows.len())?;
        }
        Ok(rows)
    }

    /// What it means that rows were not taken.
    fn refused_rows(&self, error: &ExecutionError) -> Error {
        match error {
            ExecutionError::LastAttemptError(RequestAttemptError::DbError(
                DbError::Invalid,
                said,
            )) if blames_rows(said) => Error {
                fault: Fault::Us,
                retry: false,
                message: format!("Cassandra at {} refuses: {said}", self.location),
            },
            other => away(&self.location, other),
        }
    }
}

/// Inserts are called invalid for their values, unless a table is missing or cannot keep them, or
/// the disk of a node is fuller than its guardrail allows.
fn blames_rows(said: &str) -> bool {
    let others = ["does not exist", "unconfigured table", "expiration", "disk usage"];
    !others.iter().any(|word| said.contains(word))
}

fn away(location: &str, error: &dyn std::fmt::Display) -> Error {
    let said: String = error.to_string().chars().take(300).collect();
    Error::storage_away(format!(
        "Cassandra at {location} does not do it ({said}); are enough nodes up, and may the user?"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_whose_fault_they_are() {
        for (said, is_row) in [
            ("Guardrail column_value_size violated: Value of column 'value' has size 64KiB", true),
            (
                "Guardrail replica_disk_usage violated: Write request failed because disk usage \
                 exceeds failure threshold",
                false,
            ),
            ("unconfigured table history_uint_31d", false),
            ("table history_uint_31d does not exist", false),
            ("ttl of 1 seconds exceeds maximum supported expiration date of 2038-01-19", false),
        ] {
            assert_eq!(blames_rows(said), is_row, "{said}");
        }
        let error = away("cassandra://h/k", &"x".repeat(1000));
        assert!(error.retry && error.message.len() < 450, "{error}");
    }
}
