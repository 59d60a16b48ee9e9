// The Worker: here the module is loaded, and blocks are decoded.

import { openDatabase } from "shelfish";
import { serve } from "shelfish/worker";

serve(openDatabase);
