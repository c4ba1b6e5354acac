const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:[/#]|$)/i;
const HOST = /^(?:[\w-]+(?:\.[\w-]+)+|\[[\da-f:.]+\]|localhost|[\w-]+(?=:\d))(?::\d{1,5})?(?:[/#?]|$)/i;
const PORT = /^:?(\d{1,5})$/;

/** Whether this can be the address of an agent: `https://agent.example`, `agent.example`, `localhost:41242`, or a port of this machine. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) || PORT.test(text) || HOST.test(text);
}

/** Adds `localhost` to a port number. */
export function withHost(text: string): string {
  const port = PORT.exec(text)?.[1];
  return port === undefined ? text : `localhost:${port}`;
}

/** Adds the scheme: http on loopback, https elsewhere. */
export function addressOf(text: string): string {
  if (/^https?:\/\//i.test(text)) return text;
  const named = withHost(text);
  return `${LOOPBACK.test(named) ? 'http' : 'https'}://${named}`;
}
