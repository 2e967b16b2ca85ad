"""The same inputs for two servers, and what their answers may differ in."""
