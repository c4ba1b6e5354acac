// What the other rooms of this package may use of `server`: its public door, and names that are no part of the published API.

export { isKnownScope } from './access/authorisation/scopes.ts';
export { pathName } from './agents/served-agent.ts';
export { ConfigError } from './config/read-value.ts';
export { resolveConfig } from './config/resolve.ts';
export { SETTINGS, type Setting, type SettingGroup } from './config/settings.ts';
export { suggest } from './config/suggest.ts';
export * from './index.ts';
export type { LogOptions } from './observability/log.ts';
export { METRIC_LIST, METRICS, type MetricDeclaration } from './observability/metric-table.ts';
export { type MetricFamily, metricsText } from './observability/metrics.ts';
export { ROUTES } from './routes/routes.ts';
