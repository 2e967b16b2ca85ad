//! Bytes to messages and back, without input or output: ZBXD framing, agent, sender.
