export type SampleFile = { name: string; fileName: string; contentType: string; text: string };
export type SampleRequest = {
  operationId: string;
  example: string;
  title: string;
  body: { files?: SampleFile[] } | undefined;
};

export function sampleRequests(bundle: object): SampleRequest[];
export function serverUrl(bundle: object): string;
