import { readConfig, type Config } from '../../../src/config/config.js';

/** Returns the settings of a developer's machine with these changes. A process itself has no default environment. */
export const developmentConfig = (env: NodeJS.ProcessEnv = {}): Config =>
  readConfig({ APP_ENV: 'development', API_PROCESSES: '1', ...env });
