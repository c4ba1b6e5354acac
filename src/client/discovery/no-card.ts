import type { AgentCard, Decoded } from '#protocol';
import type { ClientError, ErrorMaker } from '../errors/client-error.ts';

const NO_CARD = 'use the agent’s base address, or the address of its card: JSON with a name, skills and supportedInterfaces';

interface Served {
  readonly url: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The error for a document that is not JSON. */
export function notJson({ url, mediaType, bytes }: Served, make: ErrorMaker): ClientError {
  if (/html/.test(mediaType) || /^\s*<(?:!doctype|html)/i.test(new TextDecoder().decode(bytes.slice(0, 200)))) {
    return make('html', `${url} is a web page, not an agent card`, {
      url,
      hint: 'this address is for people; ask its operator for the agent’s own address',
    });
  }
  return make('not-an-agent', `${url} is not an agent card`, { url, why: 'it is not JSON', hint: NO_CARD });
}

interface Unread {
  readonly raw: unknown;
  /** For the message. */
  readonly where: string;
  /** Undefined: no dialect has such a card. */
  readonly card: Decoded<AgentCard> | undefined;
}

/** The error for JSON that is not a card, or not a valid one. */
export function notReadable({ raw, where, card }: Unread, make: ErrorMaker): ClientError {
  if (card === undefined || card.ok) {
    return make('not-an-agent', `${where} is not an agent card`, {
      url: where,
      why: 'it is JSON, but not a card of any A2A version',
      hint: NO_CARD,
    });
  }
  return make('card-invalid', `the agent card at ${where} is malformed`, {
    url: where,
    why: card.reason === 'invalid' ? `${card.path} ${card.problem}` : 'nothing in it can be read',
    cause: raw, // for `parley card get`, which lists every problem of the card
    hint: 'tell the operator of the agent',
  });
}
