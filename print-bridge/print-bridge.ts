import { allowClosedOutput } from '../src/commands/run/closed-output.js';
import { describeArguments, isHelpAsked } from '../src/config/commands.js';
import { ConfigError } from '../src/config/config.js';
import { readPrintBridgeConfig } from './config.js';
import { runBridge } from './bridge.js';
import { openJournal } from './journal.js';
import { logToOutput as log } from './log.js';
import { makePrinter } from './make-printer.js';
import { openService, RefusedError } from './service.js';

const HELP = `Prints the labels of one station. It asks the service for label jobs and sends them to a printer.

  CROSSDOCK_URL            the service, for example https://demo.crossdock.example
  CROSSDOCK_USERNAME       a user with the role warehouse, without a second factor
  CROSSDOCK_PASSWORD_FILE  a file with its password, or CROSSDOCK_PASSWORD: the password
  STATION                  the name of the station, for example belt-1
  PRINTER                  tcp://host:9100, or a folder that gets one file per label
  JOURNAL_DIR              a folder of this bridge alone; .data/print-bridge
  POLL_SECONDS             the pause before the next question if no label waits; 1
  PRINTER_TIMEOUT_SECONDS  the time in which the printer must take a label; 60

Exit status: 0 after SIGTERM or SIGINT, 78 if a setting or the user is wrong, 1 after another error.
`;

/** A restart does not help. Service managers can be told not to try (sysexits.h, EX_CONFIG). */
const WRONG_CONFIGURATION = 78;

allowClosedOutput();
if (isHelpAsked()) process.stdout.write(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  try {
    await run();
    return 0;
  } catch (error) {
    const faults =
      error instanceof ConfigError ? error.faults : [error instanceof Error ? error.message : String(error)];
    for (const fault of faults) process.stderr.write(`${fault}\n`);
    return error instanceof ConfigError || error instanceof RefusedError ? WRONG_CONFIGURATION : 1;
  }
}

async function run(): Promise<void> {
  const unknown = describeArguments();
  if (unknown) throw new ConfigError([unknown, HELP.trimEnd()]);
  const config = readPrintBridgeConfig(process.env);
  const stop = stopSignal();
  const journal = await openJournal(config.journalDir);
  const [service, printer] = [openService(config, log), makePrinter(config)];
  log(`The print bridge of the station ${config.station} sends labels to ${printer.name}.`);
  try {
    const { station, pollMs } = config;
    await runBridge({ service, printer, journal, station, pollMs, log, stop });
    log('The print bridge has ended.');
  } finally {
    journal.close();
    await service.close();
  }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const onSignal = () => controller.abort();
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return controller.signal;
}
