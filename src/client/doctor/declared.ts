import { bindingWords, findBinding } from '#bindings';
import type { AgentInterface } from '#protocol';
import { CURRENT_DIALECT, hasAddress } from '#protocol';
import { interfaceAddress } from '../discovery/interface-address.ts';
import type { ExaminedCard } from './card.ts';
import type { Finding } from './finding.ts';
import { error, note, warning } from './finding.ts';

const LOOPBACK = /^(localhost|127(?:\.\d+){3}|\[::1\])$/i;
const NOWHERE = /^(0\.0\.0\.0|\[::\])$/;

/** Statements of the card that are impossible, or that confuse clients. */
export function declaredFindings({ card, url, dialect }: ExaminedCard): readonly Finding[] {
  const interfaces = card.supportedInterfaces;
  const known = interfaces.filter(({ protocolBinding }) => findBinding(protocolBinding) !== undefined);
  return [
    ...(interfaces.length === 0 && dialect.id === CURRENT_DIALECT
      ? [
          error('no-interfaces', 'the card lists no interface: clients can’t know how to call the agent', {
            url,
            fix: 'fill supportedInterfaces with url, protocolBinding and protocolVersion',
          }),
        ]
      : []),
    ...(interfaces.length > 0 && known.length === 0
      ? [
          error('no-binding', `the card lists only ${interfaces.map(({ protocolBinding }) => protocolBinding).join(', ')}`, {
            url,
            fix: `offer ${bindingWords()} too: most clients support these`,
          }),
        ]
      : []),
    ...interfaces.flatMap((iface) => addressFindings(iface, url)),
    ...schemeFindings({ card }),
    ...wordFindings({ card }),
  ];
}

/** What other agents use to choose this one. */
function wordFindings({ card }: Pick<ExaminedCard, 'card'>): readonly Finding[] {
  const bare = card.skills.filter(({ examples }) => (examples ?? []).length === 0).map(({ id }) => id);
  return [
    ...(card.description.trim() === ''
      ? [note('no-description', 'the card does not say what the agent does', { fix: 'add a description: other agents choose by it' })]
      : []),
    ...(card.skills.length === 0 ? [note('no-skills', 'the card lists no skill: clients can’t know what the agent is for')] : []),
    ...(bare.length === 0
      ? []
      : [
          note('no-examples', `there is no example for ${bare.slice(0, 5).join(', ')}${bare.length > 5 ? ' and others' : ''}`, {
            fix: 'add examples of messages: people and models learn from them',
          }),
        ]),
  ];
}

/** Interface addresses that no client can use, or only clients on the same machine. */
function addressFindings(iface: AgentInterface, cardUrl: string): readonly Finding[] {
  const { url } = iface;
  const address = interfaceAddress(iface, cardUrl);
  if (!hasAddress(iface)) {
    const fix = 'write the whole URL, with https://';
    return [error('interface-address', `the interface address ${url} is not an address`, { url: cardUrl, fix })];
  }
  if (address === undefined) return [];
  const [at, from] = [new URL(address), new URL(cardUrl)];
  if (NOWHERE.test(at.hostname))
    return [
      error('interface-nowhere', `the card sends clients to ${at.hostname}, which can’t be called`, {
        url,
        fix: 'put the name that clients reach the agent by into the card',
      }),
    ];
  if (LOOPBACK.test(at.hostname) && !LOOPBACK.test(from.hostname))
    return [
      error('interface-loopback', `the card sends clients to ${at.hostname}: that is their own machine`, {
        url,
        fix: 'put the name that clients reach the agent by into the card',
      }),
    ];
  if (at.protocol === 'http:' && from.protocol === 'https:')
    return [
      warning('interface-downgrade', `the card came over https and sends clients to ${url} without TLS`, {
        url,
        fix: 'use https there too',
      }),
    ];
  if (at.protocol === 'http:' && !LOOPBACK.test(at.hostname))
    return [warning('interface-plain', `${url} is not encrypted: others on the network can read the traffic`, { url, fix: 'use https' })];
  if (at.origin !== from.origin)
    return [
      warning('interface-elsewhere', `the card sends clients to ${at.origin}, another origin than its own`, {
        url,
        fix: 'serve the card there too: careful clients send no credentials to another origin',
      }),
    ];
  return [];
}

/** Requirements without a scheme, and schemes that nothing requires. */
function schemeFindings({ card }: Pick<ExaminedCard, 'card'>): readonly Finding[] {
  const known = new Set(Object.keys(card.securitySchemes ?? {}));
  const missing = (card.securityRequirements ?? []).flatMap(({ schemes }) => Object.keys(schemes)).filter((name) => !known.has(name));
  return [
    ...missing.map((name) =>
      error('scheme-undefined', `the card requires the scheme ${name} and does not describe it`, {
        fix: `describe ${name} in securitySchemes`,
      }),
    ),
    ...(known.size > 0 && (card.securityRequirements ?? []).length === 0
      ? [note('auth-optional', 'the card describes security schemes, but requires none')]
      : []),
  ];
}
