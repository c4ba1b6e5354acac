const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:[/#]|$)/i;
const HOST = /^(?:[\w-]+(?:\.[\w-]+)+|\[[\da-f:.]+\]|localhost|[\w-]+(?=:\d))(?::\d{1,5})?(?:[/#?]|$)/i;
const PORT = /^:?(\d{1,5})$/;

/** Whether an agent can be at this: `https://agent.example`, `agent.example`, `localhost:41242`, or a port of this machine. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) || PORT.test(text) || HOST.test(text);
}

/** A bare port is one of this machine. */
export function withHost(text: string): string {
  const port = PORT.exec(text)?.[1];
  return port === undefined ? text : `localhost:${port}`;
}

/** With its scheme: on this machine http, elsewhere https. A bare port is one of this machine. */
export function addressOf(text: string): string {
  if (/^https?:\/\//i.test(text)) return text;
  const named = withHost(text);
  return `${LOOPBACK.test(named) ? 'http' : 'https'}://${named}`;
}
