/** The forms of a text by the plural categories of a language. English has `one` and `other`. */
type PluralForms = { readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>;

const rules = new Intl.PluralRules('en');

/** Chooses the form of a text for a count. */
export function plural(count: number, forms: PluralForms): string {
  return forms[rules.select(count)] ?? forms.other;
}
