import { OmoideError, responseError } from "./errors.js";

export interface ConnectionOptions {
  /** An API key of the server. */
  key?: string;
  /** Most milliseconds until a response begins. */
  timeout?: number;
  /** How often a request is sent again that could not be delivered or done. */
  retries?: number;
  /** Another implementation of `fetch`. */
  fetch?: typeof fetch;
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

export interface RequestOptions {
  method?: string;
  query?: Query;
  body?: object;
  /** Milliseconds; 0 for no limit. */
  timeout?: number;
  /** Whether it may be sent again. */
  retry?: boolean;
}

const RETRIED = new Set([429, 502, 503, 504]);
const MAX_PAUSE = 30_000;

/** Requests to one server: retried where that is safe, and answered with `OmoideError`. */
export class Connection {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(url: string, options: ConnectionOptions) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = options.key ? { Authorization: `Bearer ${options.key}` } : {};
    this.#timeout = options.timeout ?? 60_000;
    this.#retries = options.retries ?? 2;
    // A browser's fetch must be called on the window.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.send(path, options);
    try {
      return (await response.json()) as T;
    } catch (cause) {
      const message = "the answer broke off or is not omoide's: is it `omoide serve` at that address?";
      throw new OmoideError(message, "unavailable", response.status, undefined, { cause });
    }
  }

  /** All items of a list, page by page. */
  async pages<T>(path: string, query: Query): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    do {
      const page: { items: T[]; next: string | null } = await this.json(path, {
        query: { ...query, limit: 1000, cursor },
      });
      items.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return items;
  }

  /** A response that is no error. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const attempts = options.retry === false ? 1 : this.#retries + 1;
    const request = this.#request(options);
    for (let attempt = 1; ; attempt += 1) {
      let error: OmoideError;
      let pause = 500 * 2 ** (attempt - 1);
      try {
        const response = await this.#deliver(path, options, request);
        if (response.ok) return response;
        const busy = RETRIED.has(response.status);
        const asked = Number(response.headers.get("retry-after"));
        if (asked > 0) pause = asked * 1000;
        error = await responseError(response);
        if (!busy && error.kind !== "under-way") throw error;
      } catch (caught) {
        error = caught as OmoideError;
        if (error.status !== 0 && !RETRIED.has(error.status)) throw error;
      }
      if (attempt >= attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(pause, MAX_PAUSE)));
    }
  }

  #request(options: RequestOptions): RequestInit {
    const method = options.method ?? (options.body ? "POST" : "GET");
    if (!options.body) return { method, headers: this.#headers };
    const headers = {
      ...this.#headers,
      "Content-Type": "application/json",
      // A retried write is done once: the server keeps its answer under this key.
      "Idempotency-Key": crypto.randomUUID(),
    };
    return { method, headers, body: JSON.stringify(options.body) };
  }

  async #deliver(path: string, options: RequestOptions, request: RequestInit): Promise<Response> {
    const wait = options.timeout ?? this.#timeout;
    const aborter = new AbortController();
    const timer = wait > 0 ? setTimeout(() => aborter.abort(), wait) : undefined;
    try {
      const url = this.#url + path + search(options.query ?? {});
      return await this.#fetch(url, { ...request, signal: aborter.signal });
    } catch (cause) {
      const message = aborter.signal.aborted
        ? "the server did not answer in time: try again, or set a longer timeout"
        : "the server cannot be reached: is `omoide serve` running at that address?";
      throw new OmoideError(message, "unavailable", 0, undefined, { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

function search(query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) given.append(name, String(one));
  }
  const text = given.toString();
  return text ? `?${text}` : "";
}
