import type { components } from '../../../generated/contract.js';
import { diagnoses, type DiagnosisCode } from '../../../generated/diagnoses.js';

type Check = components['schemas']['IntegrationCheck'];

/** A diagnosis as it is stored. Its texts and its severity are those of openapi/diagnoses.yaml. */
export type Finding = { code: DiagnosisCode; evidence: components['schemas']['FindingEvidence'] };

/** Returns the verdict of a check that has finished. */
export function verdictOf(findings: readonly Pick<Finding, 'code'>[]): NonNullable<Check['verdict']> {
  const severities = findings.map(({ code }): string => diagnoses[code].severity);
  if (severities.includes('error')) return 'faulty';
  return severities.includes('warning') ? 'warnings' : 'healthy';
}
