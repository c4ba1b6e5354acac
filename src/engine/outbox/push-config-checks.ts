import type { PushConfig } from '#protocol';
import { A2AError } from '#protocol';
import { REPLY_ID } from './queue.ts';

/** Common limit of proxies and servers for a URL. */
const URL_CHARS_MAX = 2048;
const SECRET_CHARS_MAX = 8192;
/** RFC 9110 §11.1: a token. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/**
 * RFC 9110 §5.5 without the obsolete characters: printable, and nothing that could end a header line.
 */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** Throws for a URL that nothing can be sent to, and for secrets that can't be sent in a header. */
export function checkConfig({ url, token, authentication }: PushConfig, prefix: string): void {
  const parsed = url.length > URL_CHARS_MAX ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) {
    throw new A2AError('INVALID_PARAMS', 'a push notification needs an http or https URL', { field: `${prefix}url` });
  }
  checkSecret(token, `${prefix}token`);
  if (authentication === undefined) return;
  if (!SCHEME.test(authentication.scheme)) {
    throw new A2AError('INVALID_PARAMS', 'must be the name of an HTTP scheme, for example Bearer', {
      field: `${prefix}authentication.scheme`,
    });
  }
  checkSecret(authentication.credentials, `${prefix}authentication.credentials`);
}

/** Ids of replies are reserved: a caller who replaced such a config would redirect the replies. */
export function checkConfigId({ id }: PushConfig, prefix: string): void {
  if (id?.startsWith(REPLY_ID) === true) throw new A2AError('INVALID_PARAMS', `must not begin with ${REPLY_ID}`, { field: `${prefix}id` });
}

function checkSecret(text: string | undefined, field: string): void {
  if (text === undefined || (text.length <= SECRET_CHARS_MAX && HEADER_TEXT.test(text))) return;
  throw new A2AError('INVALID_PARAMS', `must be at most ${SECRET_CHARS_MAX} printable ASCII characters`, { field });
}
