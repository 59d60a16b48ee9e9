// The Worker: here the module is loaded, and blocks are decoded.

import { open } from "shelfish";
import { serve } from "shelfish/worker";

serve(open);
