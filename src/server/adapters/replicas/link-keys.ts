import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/**
 * The connection between two replicas. Both know a secret of the database, so no certificates are needed: TLS with a pre-shared key encrypts,
 * and lets only replicas of this database connect. Node supports such keys in TLS 1.2 only. The cipher has forward secrecy.
 */
export const LINK_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  ALPNProtocols: ['h2'],
} as const;
export const LINK_IDENTITY = 'parley-replica';

/** What a replica proves itself with. */
export interface LinkKeys {
  /** SPKI in base64url. It also names the replica: each process makes its own key. */
  readonly publicKey: string;
  /** Proves to the receiver that this replica opened the connection. The proof is of no use on another connection. */
  prove(socket: TLSSocket, receiver: string): string;
}

/** Makes the key pair of this process. It is kept in memory only. */
export function makeLinkKeys(): LinkKeys {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
  return {
    publicKey,
    prove: (socket, receiver) =>
      `${publicKey}.${sign(null, statement(socket, publicKey, receiver), pair.privateKey).toString('base64url')}`,
  };
}

/** The public key of the replica that opened the connection. Undefined if the proof is wrong, or is for another connection or receiver. */
export function provenBy(proof: string, socket: TLSSocket, receiver: string): string | undefined {
  const [sender = '', signature = '', ...more] = proof.split('.');
  const key = more.length === 0 ? readKey(sender) : undefined;
  if (key === undefined) return undefined;
  return verify(null, statement(socket, sender, receiver), key, Buffer.from(signature, 'base64url')) ? sender : undefined;
}

/** Both ends of a TLS connection export the same bytes, and no other connection does (RFC 5705). */
function statement(socket: TLSSocket, sender: string, receiver: string): Buffer {
  const bytes = socket.exportKeyingMaterial(32, 'EXPORTER-parley-replica', Buffer.alloc(0));
  return Buffer.from(`parley replica link 1\n${bytes.toString('base64url')}\n${sender}\n${receiver}`);
}

function readKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64url'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
