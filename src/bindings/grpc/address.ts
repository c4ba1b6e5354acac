/** `host:port` without a scheme, as the specification and the official SDKs write it. The host may be an IPv6 address in brackets. */
const HOST_AND_PORT = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/;
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\]):/i;

/**
 * The address of a gRPC interface as a URL. Cards name it `host:port` or `dns:///host:port`, which
 * leaves open whether it uses TLS. It does if the card came over TLS, and if it came from a file or from
 * the caller: unless the host is this machine. `http://` and `https://` say it themselves. Undefined: it
 * is not an address.
 */
export function grpcAddress(text: string, cardUrl: string | undefined): string | undefined {
  const bare = text.trim().replace(/^(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?/i, '');
  if (HOST_AND_PORT.test(bare)) return `${usesTls(bare, cardUrl) ? 'https' : 'http'}://${bare}`;
  const url = URL.parse(text.trim());
  if (url === null) return undefined;
  const scheme = SCHEMES[url.protocol];
  return scheme === undefined || url.host === '' ? undefined : `${scheme}//${url.host}`;
}

const SCHEMES: Readonly<Record<string, string>> = { 'http:': 'http:', 'https:': 'https:', 'grpc:': 'http:', 'grpcs:': 'https:' };

function usesTls(hostAndPort: string, cardUrl: string | undefined): boolean {
  if (hostAndPort.endsWith(':443')) return true;
  if (cardUrl !== undefined && URL.canParse(cardUrl)) return new URL(cardUrl).protocol === 'https:';
  return !LOOPBACK.test(hostAndPort);
}
