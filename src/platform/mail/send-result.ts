export type SendResult =
  | {
      outcome: 'sent';
      /** The id that SES gave it, or the file in the outbox. */
      reference: string;
    }
  | {
      /** refused: it would be refused again. */
      outcome: 'failed' | 'refused';
      /** In a few words without addresses, fit for the log. */
      reason: string;
      /** What the refusal said, which may name addresses. */
      detail?: string;
    };
