// From nothing to a service that an engine serves. ENGINES: where engines connect; PROGRAMS: the folder of vedette.

import { balance } from "../balance.mjs";

export default balance;
