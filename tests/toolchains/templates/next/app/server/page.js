import { answer } from "../../answer.js";

export default async function Page({ searchParams }) {
  return <p id="answer">{await answer((await searchParams).db)}</p>;
}
