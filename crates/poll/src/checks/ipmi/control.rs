//! Commands for a management controller: its power.

use config::snapshot::Interface;
use wire::ipmi::Request;
use wire::ipmi::commands::{CHASSIS, CHASSIS_CONTROL};

use super::{Device, Failure, shown};
use crate::checks::check::Shared;

/// What a controller can be told, in the order of the protocol (chassis control).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Control {
    PowerOff = 0,
    PowerOn = 1,
    Reset = 3,
}

/// `power on`, `power off`, `power 1`, `reset`.
fn parse(command: &str) -> Option<Control> {
    let mut words = command.split_whitespace();
    let (name, value, rest) = (words.next()?, words.next().unwrap_or("on"), words.next());
    let on = match value {
        "on" => true,
        "off" => false,
        number => number.parse::<u32>().ok()? != 0,
    };
    match (name, on, rest) {
        ("power", true, None) => Some(Control::PowerOn),
        ("power", false, None) => Some(Control::PowerOff),
        ("reset", true, None) => Some(Control::Reset),
        _ => None,
    }
}

/// Runs a command.
pub(crate) async fn run(
    interface: &Interface,
    shared: &Shared,
    command: &str,
) -> Result<(), String> {
    let Some(control) = parse(command) else {
        return Err(format!(
            "control \"{command}\" of {} does not exist: use \"power on\", \"power off\" or \"reset\"",
            shown(interface)
        ));
    };
    let cannot = |failure: Failure| format!("cannot connect to IPMI host: {failure}");
    let mut device = Device::connect(interface, shared).await.map_err(cannot)?;
    let request = [control as u8];
    let request = Request::new(CHASSIS, CHASSIS_CONTROL, &request);
    device.tell(&request).await.map_err(|failure| match failure {
        Failure::Code(_) => format!("cannot set control: {failure}"),
        failure => cannot(failure),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_7_0() {
        for (command, expected) in [
            ("power off", Some(Control::PowerOff)),
            ("power on", Some(Control::PowerOn)),
            ("power", Some(Control::PowerOn)),
            ("power 0", Some(Control::PowerOff)),
            ("power 1", Some(Control::PowerOn)),
            ("reset", Some(Control::Reset)),
            ("reset on", Some(Control::Reset)),
            ("reset off", None),
            ("power off now", None),
            ("power maybe", None),
            ("fan on", None),
            ("", None),
        ] {
            assert_eq!(parse(command), expected, "{command}");
        }
    }
}
