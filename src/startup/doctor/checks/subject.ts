import type pg from 'pg';
import type { Config } from '../../../config/config.js';
import type { Misspelt } from '../../shared-checks/misspelt-settings.js';
import type { SecretValues } from '../secrets/secret-values.js';
import type { Deployment } from '../../deployment.js';
import type { SecretHashes } from '../secrets/secret-hashes.js';
import type { Finding } from '../../shared-checks/finding.js';

/** What is examined: the settings, and what the operator states about the installation. */
export type Subject = {
  config: Config;
  /** The faults of the settings. */
  faults: string[];
  /** Variables and files that resemble a setting and are none. */
  misspelt: Misspelt[];
  now: () => Date;
  /** The number of servers and of separate workers. */
  servers: number;
  workers: number;
  /** Free space of a disk below which there is a warning. */
  lowDiskBytes: number;
  /** Whether to decrypt every encrypted field instead of a sample. */
  isThorough?: boolean;
  /** The address of the proxy that terminates TLS. Its certificates are examined. */
  proxy?: { host: string; port: number; ca?: string } | undefined;
  /** The report of another deployment, or of this one before its secrets were replaced. */
  other: ComparedReport | undefined;
};

/** What `--compare` reads of a `--json` report. */
export type ComparedReport = {
  deployment: Deployment;
  /** Missing in the reports of earlier releases. */
  secrets?: SecretHashes;
  /** The secrets here, to compare them. */
  own: SecretValues;
};

/** The examined installation with its database. */
export type Connected = Subject & {
  /** The application's connection. */
  url: string;
  client: pg.Client;
};

type Found = Finding | Finding[];

export type Check<What> = { name: string; run: (subject: What) => Promise<Found> | Found };
