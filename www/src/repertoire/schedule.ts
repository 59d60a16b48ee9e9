/**
 * Spaced repetition by Leitner's boxes. A question begins in box 1. A right answer at the first attempt moves it to the next box, a wrong answer back to
 * box 1. The box decides after how many days the question is asked again.
 */

/** Days until a question of box 1, 2, … is asked again. */
export const DAYS = [1, 3, 7, 16, 35] as const;

const DAY = 86_400_000;

/** The state of a question. */
export interface Scheduled {
  /** Box, from 1. */
  box: number;
  /** When the question is asked again, in milliseconds since 1970. */
  due: number;
}

/** Returns the state after an answer at a time. */
export function scheduled(
  before: Scheduled | undefined,
  isRight: boolean,
  now: number,
): Scheduled {
  const box = isRight ? Math.min((before?.box ?? 1) + 1, DAYS.length) : 1;
  return { box, due: now + (DAYS[box - 1] ?? DAYS[0]) * DAY };
}

/** Whether a question is asked at a time: a new question always is. */
export const isDue = (question: Scheduled | undefined, now: number): boolean =>
  question === undefined || question.due <= now;
