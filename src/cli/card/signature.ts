import { readFile } from 'node:fs/promises';
import type { FoundAgentCard } from '#client';
import type { CardVerdict, Fetch } from '#protocol';
import { verifyCard } from '#protocol';
import type { JSONWebKeySet, KeyFinder } from '../../protocol/adapters/jose.ts';
import { joseVerifier } from '../../protocol/adapters/jose.ts';
import { fetchFor } from '../agent/client-options.ts';
import { reasonOf } from '../agent/debug.ts';
import { usage } from '../command.ts';
import type { ContractSession } from '../contract/session.ts';
import { textOf } from '../flags/parse.ts';

/**
 * The state of the signature: verified, unverifiable or absent (A2ACLI_CARD_GET_004). Trusts the keys of `--jwks`. Without it, trusts the keys
 * that the signature points to, if they are at the card's own origin. Those prove no more than TLS does, and the text says so.
 */
export async function signatureOf(session: ContractSession, { raw, url }: FoundAgentCard): Promise<string> {
  const fetch = await fetchFor(session);
  const given = textOf(session.parsed, 'jwks');
  const trusted = given === undefined ? undefined : await keySet(given, fetch);
  const origin = url === undefined ? undefined : new URL(url).origin;
  const isOwn = (jku: string): boolean => origin !== undefined && URL.canParse(jku) && new URL(jku).origin === origin;
  const find: KeyFinder = async ({ kid, jku }) => {
    const set = trusted ?? (jku === undefined ? { keys: [] } : await keySet(jku, fetch));
    return set.keys.filter((key) => key.kid === kid);
  };
  const verdict = await verifyCard(raw, joseVerifier(find), trusted === undefined ? { allowsJku: isOwn } : {});
  return words(verdict, trusted !== undefined);
}

function words(verdict: CardVerdict, byKeysGiven: boolean): string {
  if (verdict.ok) {
    const open = verdict.uncovered.length === 0 ? '' : `; it says nothing about ${verdict.uncovered.join(', ')}`;
    return `verified (key ${verdict.kid}, ${byKeysGiven ? 'of --jwks' : 'published by the same origin'}${open})`;
  }
  return verdict.reason === 'unsigned' ? 'absent' : `unverifiable (${verdict.reason})`;
}

/** Reads the keys of `--jwks` from a file or a URL. */
async function keySet(from: string, fetch: Fetch): Promise<JSONWebKeySet> {
  try {
    const text = /^https?:/.test(from) ? await textAt(from, fetch) : await readFile(from, 'utf8');
    const set: unknown = JSON.parse(text);
    if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) return set as JSONWebKeySet;
  } catch (thrown) {
    throw usage(`--jwks: ${from} can't be read: ${reasonOf(thrown)}`, 'it must be a JSON Web Key Set: {"keys":[…]}');
  }
  throw usage(`--jwks: ${from} is not a key set`, 'it must be a JSON Web Key Set: {"keys":[…]}');
}

async function textAt(url: string, fetch: Fetch): Promise<string> {
  const response = await fetch(new Request(url));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return await response.text();
}
