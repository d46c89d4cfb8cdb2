/** Any error of the server or of the way to it. */
export class OmoideError extends Error {
  override name = "OmoideError";

  constructor(
    message: string,
    /** The kind, such as `no-such-fact`; `unavailable` if the server could not be reached. */
    readonly kind: string,
    /** The HTTP status; 0 if there was no response. */
    readonly status: number,
    /** The invalid field, if there is one. */
    readonly field?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface Problem {
  type: string;
  detail: string;
  status?: number;
  field?: string;
}

/** The error of a problem document (RFC 9457). */
export function problemError(problem: Problem, status: number): OmoideError {
  const kind = problem.type.slice(problem.type.lastIndexOf(":") + 1);
  return new OmoideError(problem.detail, kind, status, problem.field);
}

/** The error of an error response. */
export async function responseError(response: Response): Promise<OmoideError> {
  try {
    return problemError((await response.json()) as Problem, response.status);
  } catch {
    const message = `status ${response.status} with a body that is not omoide's: is it \`omoide serve\` at that address?`;
    return new OmoideError(message, "unavailable", response.status);
  }
}

/** The error of an answer that broke off. */
export function lost(cause?: unknown): OmoideError {
  const message = "the answer broke off: the connection to the server was lost";
  return new OmoideError(message, "unavailable", 0, undefined, { cause });
}
