// What the other rooms of this package use of `agents`: its public API, and names that are not published.
export {
  type ChosenLaunch,
  type Configured as ConfiguredAgents,
  type ConfiguredLaunch,
  chooseLaunch,
  helpMentions,
  knownAgents,
} from './coding/choose.ts';

export * from './index.ts';
export { callingContext, linger } from './proxy/context.ts';
export { DEFAULT_PROXY_TIMEOUTS, type ProxyTimeouts } from './proxy/follow.ts';
export { type RemoteCall, talk } from './proxy/talk.ts';
export { openSessions } from './workspace/sessions.ts';
