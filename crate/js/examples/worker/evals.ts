// The Worker loads the module and decodes blocks.

import { openDatabase } from "shelfish";
import { serve } from "shelfish/worker";

serve(openDatabase);
