import { open } from "shelfish";
import { serve } from "shelfish/worker";

serve(open);
