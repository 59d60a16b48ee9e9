import { answer } from "../../answer.js";

export async function GET(request) {
  return new Response(
    await answer(new URL(request.url).searchParams.get("db")),
  );
}
