// Rules of a virtual service as a list and as JSON, what a change touches, and readers.

import { rules } from "../rules.mjs";

export default rules;
