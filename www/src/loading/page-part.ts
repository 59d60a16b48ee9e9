/** Parts of a page that are loaded when they are needed. */
import { InputError } from "../text/input-error";

/** What is loaded; an `InputError` that says what to do if it cannot be. */
export async function part<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new InputError("A part of this page cannot be loaded. Try again when there is a connection.");
  }
}

/** Does what a person asked for; what is wrong with it, such as a part that cannot be loaded, is told. */
export async function attempt(work: () => Promise<unknown>, tell: (fault: string) => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    tell(error.message);
  }
}
