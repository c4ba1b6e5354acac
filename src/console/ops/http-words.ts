const WORDS: Readonly<Record<string, string>> = {
  '400': 'the receiver can’t read the request',
  '401': 'the receiver wants other credentials',
  '403': 'the receiver does not allow it',
  '404': 'there is nothing at this address',
  '405': 'the address takes no POST requests',
  '408': 'the receiver waited too long for the request',
  '410': 'the receiver says that this webhook is gone for good',
  '413': 'the event is too large for the receiver',
  '415': 'the receiver does not take this media type',
  '422': 'the receiver does not accept the event',
  '429': 'the receiver gets too many requests',
  '500': 'the receiver failed',
  '502': 'the server behind the address does not answer',
  '503': 'the receiver is not available',
  '504': 'the server behind the address answers too late',
};

/** `HTTP 410` with what it means. Other problems stay as they are. */
export function inWords(problem: string): string {
  const status = /^HTTP (\d{3})$/.exec(problem)?.[1] ?? '';
  const words = WORDS[status];
  return words === undefined ? problem : `${problem}: ${words}`;
}
