// openapi/diagnoses.yaml: the schema DiagnosisCode, the module of the diagnoses, and the table of the documentation.
import type { Contract } from '../document/openapi.js';

const SEVERITIES = ['error', 'warning', 'info'] as const;

type Diagnosis = { severity: (typeof SEVERITIES)[number]; meaning: string; remedy: string };
export type Diagnoses = Record<string, Diagnosis>;

/** Fills in the codes of the schema. @throws if a diagnosis is incomplete */
export function addDiagnoses(bundle: Contract, diagnoses: Diagnoses): void {
  for (const [code, { severity, meaning, remedy }] of Object.entries(diagnoses))
    if (!SEVERITIES.includes(severity) || !meaning || !remedy)
      throw new Error(`diagnoses.yaml, ${code}: write a severity, a meaning and a remedy.`);
  bundle.components.schemas['DiagnosisCode'] = {
    ...bundle.components.schemas['DiagnosisCode'],
    enum: Object.keys(diagnoses),
  };
}

/** Returns the module of the severities and texts. */
export const diagnosesModule = (diagnoses: Diagnoses): string =>
  `export const diagnoses = ${JSON.stringify(diagnoses, null, 2)} as const;\n\nexport type DiagnosisCode = keyof typeof diagnoses;\n`;

/** Returns a section per diagnosis, the severe ones first. */
export function diagnosisSections(diagnoses: Diagnoses): string {
  return SEVERITIES.map((severity) => {
    const found = Object.entries(diagnoses).filter(([, each]) => each.severity === severity);
    const sections = found.map(
      ([code, { meaning, remedy }]) => `### \`${code}\`\n\n${meaning}\n\n**Remedy.** ${remedy}`,
    );
    return `## ${TITLES[severity]}\n\n${sections.join('\n\n')}`;
  }).join('\n\n');
}

const TITLES = { error: 'Errors', warning: 'Warnings', info: 'No faults' };
