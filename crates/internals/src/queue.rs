//! What is late, as `queue.get` answers it.

use collect::queue::QueueReport;
use serde_json::{Map, Value as Json, json};

const DELAYS: [&str; 6] = ["delay5", "delay10", "delay30", "delay60", "delay300", "delay600"];

fn row(name: &str, of: Json, delays: [u64; 6]) -> Json {
    let mut row = Map::new();
    row.insert(name.to_owned(), of);
    row.extend(DELAYS.iter().zip(delays).map(|(name, n)| ((*name).to_owned(), n.into())));
    Json::Object(row)
}

/// The member `data` of the answer, and for details how many items are late in all. The error
/// says what is wrong with the request.
pub fn rows(
    report: &QueueReport,
    kind: &str,
    limit: Option<u64>,
    now_s: u64,
) -> Result<(Json, Option<usize>), String> {
    match kind {
        "overview" => {
            let late = report.rows.iter().filter(|(_, of)| of.delays.iter().any(|n| *n > 0));
            let rows = late.map(|(kind, of)| row("itemtype", (*kind as u8).into(), of.delays));
            Ok((rows.collect(), None))
        }
        "overview by proxy" => {
            // Everything is collected by the server itself.
            let mut sum = [0; 6];
            for of in report.rows.values() {
                for (sum, n) in sum.iter_mut().zip(of.delays) {
                    *sum += n;
                }
            }
            let late = sum.iter().any(|n| *n > 0);
            let rows = if late { vec![row("proxyid", 0.into(), sum)] } else { Vec::new() };
            Ok((rows.into(), None))
        }
        "details" => {
            let limit = limit.ok_or("Unsupported limit value.")?;
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let rows = report.details.iter().take(limit).map(|late| {
                json!({
                    "itemid": late.item.0,
                    "nextcheck": now_s.saturating_sub(u64::from(late.late_s)),
                    "reason": late.reason.text(),
                })
            });
            Ok((rows.collect(), Some(usize::try_from(report.late()).unwrap_or(usize::MAX))))
        }
        _ => Err("Unsupported request type.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let report = QueueReport::default();
        let none = || json!([]);
        for (kind, limit, wanted) in [
            ("overview", None, Some((none(), None))),
            ("overview by proxy", None, Some((none(), None))),
            ("details", Some(5), Some((none(), Some(0)))),
            ("details", None, None),
            ("", None, None),
        ] {
            assert_eq!(rows(&report, kind, limit, 0).ok(), wanted, "{kind}");
        }
    }
}
