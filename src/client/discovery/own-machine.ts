/** Hosts of the machine itself or of its own link, as the URL parser spells them: loopback, unspecified, link-local, metadata services. */
const INSIDE =
  /^(?:(?:[^.]+\.)*localhost\.?|(?:127|0)(?:\.\d+){3}\.?|169\.254(?:\.\d+){2}\.?|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}|0|a9fe):[0-9a-f]+\]|\[fe[89ab][0-9a-f]:[0-9a-f:]*\])$/i;

/**
 * Whether a card sends its reader to the reader's own machine although the card itself came from elsewhere. Such an address is never the
 * agent's: it is a mistake, or an attempt to reach services that only this machine can reach.
 */
export function leadsInside(url: string, home: string | undefined): boolean {
  return home !== undefined && isInsideHost(url) && !isInsideHost(home);
}

function isInsideHost(url: string): boolean {
  return INSIDE.test(new URL(url).hostname);
}
