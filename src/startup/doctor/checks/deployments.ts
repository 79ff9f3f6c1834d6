import { identityOfProcess } from '../../../config/command-settings.js';
import { PUBLISHED } from '../../../config/published.js';
import { readValues } from '../../../platform/db/connections/rows.js';
import { describePublicKeys, findPublished, type PublishedCredential } from '../../published-credentials.js';
import { describeDevelopment, findRefusal, nameOf, takeOverLine } from '../../database-owner.js';
import {
  areTokenKeysNew,
  describeDeployment,
  readDeployments,
  TOKEN_KEY_NAMES,
  type Deployment,
  type RecordedDeployment,
} from '../../deployment.js';
import { compareWithHashes, type SecretComparison } from '../secrets/secret-hashes.js';
import { ok, orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected, Subject } from './subject.js';
import { commandLine } from '../../../config/commands.js';

/** Finds another deployment that has used this database, and secrets of this one that it has. */
export async function checkDeployments({ client, config }: Connected): Promise<Finding[]> {
  const own = describeDeployment(config);
  const recorded = await readDeployments(client);
  const others = recorded
    .filter(({ name, appEnv }) => name !== own.name || appEnv !== own.appEnv)
    .sort((one, other) => one.seenAt.getTime() - other.seenAt.getTime());
  const database = await nameOf(client);
  const [published] = others.length > 0 ? await findPublished(client, config) : [];
  // Of another environment, the lines below say the same.
  const isOwn = others.every(({ appEnv }) => appEnv === own.appEnv);
  const refusal = isOwn ? await findRefusal(client, identityOfProcess(config)) : undefined;
  return orOk(
    [
      ...others.flatMap((other) => [
        describeOther(own, other, { database, published }),
        ...(isSame(own, other) ? [] : compareSecrets(own, other)),
      ]),
      refusal !== undefined && problem(refusal, 'Until then no server and no worker starts.'),
      !refusal && areTokenKeysNew(recorded, own) && OTHER_TOKEN_KEYS,
    ],
    `Only the deployment ${own.name} has used this database.`,
  );
}

const OTHER_TOKEN_KEYS = warning(
  'No key of TOKEN_KEYS was given at the last start of a server or worker.',
  'If they were replaced after a leak, restart every server. Otherwise give the TOKEN_KEYS of this deployment.',
);

const describeOther = (
  own: Deployment,
  other: RecordedDeployment,
  { database, published }: Keeping,
): Finding => {
  const { name, appEnv, seenAt } = other;
  const remedy = copyRemedy(own, other, { database, published });
  return problem(
    `This database was used by the deployment ${name} (APP_ENV=${appEnv}), last on ${seenAt.toISOString()}.`,
    isSame(own, other)
      ? `It has the same keys. If one of the names ${name} and ${own.name} is a typing error, or the deployment has a new name: correct DEPLOYMENT in every process, ` +
          `restart them, and run ${takeOverLine(name, database)} with the right name. ${remedy}`
      : `If it belongs to that deployment, correct DATABASE_URL. ${remedy}`,
  );
};

/** The name of the database, and why `take-over` would refuse it. */
type Keeping = { database: string; published: PublishedCredential | undefined };

/** Only one deployment under two names has the same keys and the same environment, or a copy whose secrets were not replaced. */
const isSame = (own: Deployment, other: Deployment): boolean =>
  own.appEnv === other.appEnv &&
  ['ENCRYPTION_KEYS', 'LOOKUP_KEY'].every((setting) =>
    own.fingerprints[setting]?.some((print) => other.fingerprints[setting]?.includes(print)),
  );

/** Suggests only what is not refused: development takes nothing over, and nobody takes over what public keys or passwords protect. */
function copyRemedy(own: Deployment, other: Deployment, { database, published }: Keeping): string {
  if (describePublicKeys(other).length > 0 && own.appEnv !== 'development')
    return describeDevelopment(own.appEnv);
  const copy = `If it is a copy: replace every secret, and run ${commandLine('anonymise')} as docs/staging.md describes.`;
  if (own.appEnv === 'development' && other.appEnv !== 'development') return copy;
  const keep = `To keep the data as they are, stop what uses the database, and run ${takeOverLine(other.name, database)} with DEPLOYMENT set.`;
  if (!published || own.appEnv === 'development') return `${copy} ${keep}`;
  return `${copy} ${keep} It is refused at present. ${published.message} ${published.remedy}`;
}

const compareSecrets = (own: Deployment, other: Deployment): Finding[] =>
  sharedKeys(own, other).map((setting) => describeShared(setting, own, other));

/** Returns the settings of which a key is also one of the other deployment. */
const sharedKeys = (own: Deployment, other: Deployment): string[] =>
  Object.entries(own.fingerprints)
    .filter(([setting]) => setting !== TOKEN_KEY_NAMES)
    .filter(([setting, prints]) => prints.some((print) => other.fingerprints[setting]?.includes(print)))
    .map(([setting]) => setting);

/** A header, a certificate or its key may be shared on purpose. */
function describeShared(secret: string, own: Deployment, other: Deployment): Finding {
  const level = /^(OTEL_|TLS_|tls)/.test(secret) ? warning : problem;
  const isSame = own.name === other.name && own.appEnv === other.appEnv;
  return level(
    `${secret} contains a secret of the deployment ${other.name} (APP_ENV=${other.appEnv}).`,
    isSame
      ? 'If it has leaked, replace it as docs/leaked-secrets.md describes.'
      : 'Give each deployment its own secrets, as "Changing secrets" in docs/operations.md describes.',
  );
}

/** Compares every secret with those of a report: of another deployment, or of this one before its secrets were replaced. */
export async function checkOther({ config, other }: Subject): Promise<Finding[]> {
  if (!other) return [];
  const { deployment, own } = other;
  const present = describeDeployment(config);
  const comparison = other.secrets && (await compareWithHashes(own, other.secrets));
  const same = new Set([...(comparison?.same ?? []), ...sharedKeys(present, deployment)]);
  return [
    ...[...same].map((secret) => describeShared(secret, present, deployment)),
    comparison ? ok(describeComparison(comparison, same)) : NOT_COMPARED,
  ];
}

const NOT_COMPARED = warning(
  'The report has no comparable hashes of secrets, so only TOKEN_KEYS, ENCRYPTION_KEYS and LOOKUP_KEY were compared.',
  `Write the report with ${commandLine('doctor --json')} of this version.`,
);

/** docs/leaked-secrets.md reads the first words. */
function describeComparison(
  { different, removed, notCompared }: SecretComparison,
  same: Set<string>,
): string {
  const listOf = (names: string[]) => names.filter((name) => !same.has(name)).join(', ') || 'none';
  return (
    `Compared with the report, these secrets are different: ${listOf(different)}. No longer set: ${listOf(removed)}. ` +
    `Not compared, because they are not set here, have no password or cannot be read: ${listOf(notCompared)}.`
  );
}

/** Returns what to do instead of a command that this database refuses; undefined if it does not. */
async function describeInstead(
  client: Connected['client'],
  config: Connected['config'],
): Promise<string | undefined> {
  const refusal = await findRefusal(client, identityOfProcess(config));
  if (refusal === undefined) return undefined;
  const recorded = await readDeployments(client);
  return recorded.every(({ appEnv }) => appEnv === 'development')
    ? describeDevelopment(config.appEnv)
    : `First correct what the line "deployment" says: until then no command may replace it.`;
}

/** Finds the demo tenants, and published credentials in any tenant. Staging and production do not start with them. */
export async function checkPublished({ client, config }: Connected): Promise<Finding[]> {
  if (config.appEnv === 'development') return orOk([], 'Development may contain the demo data.');
  const published = await findPublished(client, config);
  const instead = published.length > 0 ? await describeInstead(client, config) : undefined;
  const demo = 'select id from all_tenants() as id where id = any($1)';
  const ids = await readValues<string>(client, demo, [Object.values(PUBLISHED.tenantIds)]);
  return orOk(
    [
      ...published.map(({ message, remedy }) => problem(message, instead ?? remedy)),
      ...ids.map((id) =>
        warning(
          `The database contains the demo tenant ${id}.`,
          'Nobody can use it without a published credential. A new database does not contain it.',
        ),
      ),
    ],
    'The database contains no demo data and no published credential.',
  );
}
