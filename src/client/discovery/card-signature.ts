import type { CardVerdict } from '#protocol';
import { verifyCard } from '#protocol';
import type { ErrorMaker } from '../errors/client-error.ts';
import type { CardVerification } from '../options.ts';

/** Checks the signature of a card. Throws if the card must be trusted and is not. */
export async function checkSignature(
  { raw, url }: { readonly raw: unknown; readonly url: string | undefined },
  verify: CardVerification,
  make: ErrorMaker,
): Promise<CardVerdict> {
  const verdict = await verifyCard(raw, verify.verifier, verify.policy);
  if (verdict.ok || verify.mode === 'reported') return verdict;
  throw make('card-untrusted', 'the agent’s card is not trusted', {
    why: verdict.reason,
    ...(url === undefined ? {} : { url }),
    hint:
      verdict.reason === 'unsigned'
        ? 'it has no signature; leave out verify if you do not need one'
        : 'no key that you trust has signed it',
  });
}
