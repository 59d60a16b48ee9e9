/** Parts of a page that are loaded when they are needed. */
import { InputError } from "../text/input-error";

/** Waits for a dynamic import. Throws an `InputError` with advice if it fails. */
export async function loadPart<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new InputError(
      "A part of this page cannot be loaded. Try again when there is a connection.",
    );
  }
}

/** Runs `work` and passes the message of an `InputError` to `show`. */
export async function reportInputError(
  work: () => Promise<unknown>,
  show: (message: string) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    show(error.message);
  }
}
