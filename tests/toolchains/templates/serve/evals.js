import { openDatabase } from "shelfish";
import { serve } from "shelfish/worker";

serve(openDatabase);
