// The error answers of simulated methods. A refusal is an answer of the Bot API and not an error of wa-sync: it never leaves this folder.

export class Refusal extends Error {
  readonly status: number;
  readonly description: string;
  readonly parameters: Record<string, unknown> | undefined;

  constructor(status: number, description: string, parameters?: Record<string, unknown>) {
    super(description);
    this.status = status;
    this.description = description;
    this.parameters = parameters;
  }

  body(): object {
    const { status, description, parameters } = this;
    return { ok: false, error_code: status, description, ...(parameters && { parameters }) };
  }
}

export function badRequest(reason: string): Refusal {
  return new Refusal(400, `Bad Request: ${reason}`);
}
