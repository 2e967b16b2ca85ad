//! Events and problems: opened, recovered, acknowledged, closed.
