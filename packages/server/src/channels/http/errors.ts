/** What a receiver sent is not an answer of HTTP/1.1. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';

  constructor(reason: string) {
    super(`Response does not match the HTTP/1.1 protocol (${reason})`);
  }
}

/** The connection cannot be used, or was closed too early. The delivery log shows the code. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;

  constructor(message: string, code = 'UND_ERR_SOCKET') {
    super(message);
    this.code = code;
  }
}

export function tooLargeHead(): ConnectionError {
  return new ConnectionError('Headers Overflow Error', 'UND_ERR_HEADERS_OVERFLOW');
}
