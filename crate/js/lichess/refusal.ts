// Reasons why a question has no answer.

/** A question that is answered with an error. */
export class Refusal {
  constructor(
    readonly message: string,
    readonly status = 400,
  ) {}
}
