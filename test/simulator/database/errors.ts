/** An error of the server, with its SQLSTATE. */
export class ServerError extends Error {
  override readonly name: string = 'ServerError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The connection ended before the answer. It has no SQLSTATE. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';

  constructor() {
    super('the connection to the simulated server ended');
  }
}
