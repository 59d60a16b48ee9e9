/** Ends the task of the moment, so that what was drawn is painted and a click is heard, and goes on in another. */
export const breath = (): Promise<void> => new Promise((done) => setTimeout(done));
