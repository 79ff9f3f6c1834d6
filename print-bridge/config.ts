import { readFileSync } from 'node:fs';
import { customCleanEnv, EnvMissingError, makeExactValidator } from 'envalid';
import { ConfigError } from '../src/config/config.js';
import { text, textLike, UNSET, wholeNumber } from '../src/config/setting-validators.js';

/** The settings of npm run print-bridge. docs/site/pages/label-printing.md lists them. */
export type PrintBridgeConfig = {
  /** The origin of the service. */
  url: string;
  username: string;
  password: string;
  station: string;
  printer: PrinterAddress;
  journalDir: string;
  pollMs: number;
  printerTimeoutMs: number;
};

type PrinterAddress = { kind: 'tcp'; host: string; port: number } | { kind: 'folder'; path: string };

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const serviceUrl = makeExactValidator<string>((value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (url && isSafe && !url.username && url.pathname === '/' && !url.search) return url.origin;
  throw new Error('must be an https:// URL without a path, for example https://demo.crossdock.example');
});

const printer = makeExactValidator<PrinterAddress>((value) => {
  const [scheme] = /^\w+:\/\//.exec(value) ?? [];
  if (!scheme) return { kind: 'folder', path: value };
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const port = Number(url?.port);
  // Brackets around an IPv6 address belong to the URL.
  const host = url?.hostname.replace(/^\[|\]$/g, '');
  if (scheme === 'tcp://' && host && port > 0) return { kind: 'tcp', host, port };
  throw new Error('must be tcp://host:9100 with the address of the printer, or the path of a folder');
});

const SETTINGS = {
  CROSSDOCK_URL: serviceUrl(),
  CROSSDOCK_USERNAME: text(),
  CROSSDOCK_PASSWORD: text(UNSET),
  CROSSDOCK_PASSWORD_FILE: text(UNSET),
  STATION: textLike(/^(?=.*\S).{1,50}$/su, 'must have 1 to 50 characters')(),
  PRINTER: printer(),
  JOURNAL_DIR: text({ default: '.data/print-bridge' }),
  POLL_SECONDS: wholeNumber(1, 60)({ default: 1 }),
  PRINTER_TIMEOUT_SECONDS: wholeNumber(1, 600)({ default: 60 }),
};

/**
 * Reads the settings of the print bridge.
 *
 * @throws ConfigError with one line per fault
 */
export function readPrintBridgeConfig(env: NodeJS.ProcessEnv): PrintBridgeConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const faults: string[] = [];
  const settings = customCleanEnv(given, SETTINGS, (cleaned) => cleaned, {
    reporter({ errors }) {
      for (const [name, error] of Object.entries(errors))
        faults.push(error instanceof EnvMissingError ? `${name} is not set` : `${name} ${error.message}`);
    },
  });
  const password = readPassword(settings, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return {
    url: settings.CROSSDOCK_URL,
    username: settings.CROSSDOCK_USERNAME,
    password,
    station: settings.STATION,
    printer: settings.PRINTER,
    journalDir: settings.JOURNAL_DIR,
    pollMs: settings.POLL_SECONDS * 1_000,
    printerTimeoutMs: settings.PRINTER_TIMEOUT_SECONDS * 1_000,
  };
}

type Passwords = { CROSSDOCK_PASSWORD: string | undefined; CROSSDOCK_PASSWORD_FILE: string | undefined };

function readPassword(
  { CROSSDOCK_PASSWORD: password, CROSSDOCK_PASSWORD_FILE: file }: Passwords,
  faults: string[],
): string {
  if ((password === undefined) === (file === undefined))
    faults.push(
      'Set either CROSSDOCK_PASSWORD_FILE to a file with the password, or CROSSDOCK_PASSWORD to the password',
    );
  if (file === undefined) return password ?? '';
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    faults.push(
      `CROSSDOCK_PASSWORD_FILE cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return '';
  }
}
