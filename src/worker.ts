import { pino } from 'pino';
import { startBackground } from './background.js';
import { DRAIN_MS, print, runProcess } from './process.js';

// npm run worker: works the queue, serves nothing. As many at once as you like.
await runProcess(async (database, config, stop) => {
  const log = pino({ level: config.logLevel });
  const background = startBackground({ config, database, log });
  if (config.appEnv === 'development') print('Crossdock works the queue. Ctrl-C stops.');
  await stop.told;
  log.info({ signal: stop.signal() }, 'closing');
  await background.stop(DRAIN_MS);
});
