/** Parts of a page that are loaded when they are needed. */
import { InputError } from "./fault";

/** What is loaded; an `InputError` that says what to do if it cannot be. */
export async function part<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new InputError("A part of this page cannot be loaded. Try again when there is a connection.");
  }
}
