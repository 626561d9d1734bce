import { Alert, Button } from '@mantine/core';
import { Component, type ComponentType, type ReactElement, type ReactNode } from 'react';
import { inWords } from '../components/in-words.ts';
import { NotLoaded } from '../components/lazily.ts';
import { texts } from './texts.ts';
import { WhenBack } from './when-back.tsx';

interface Props {
  /** What stands in its place when it has failed. */
  readonly fallback: ComponentType<{ readonly error: unknown }>;
  readonly children: ReactNode;
}

/** What fails takes nothing with it but itself. */
export class Boundary extends Component<Props, { readonly failed: { readonly error: unknown } | null }> {
  override state = { failed: null as { readonly error: unknown } | null };

  static getDerivedStateFromError(error: unknown): { failed: { error: unknown } } {
    return { failed: { error } };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    const { fallback: Fallback, children } = this.props;
    return failed === null ? children : <Fallback error={failed.error} />;
  }
}

/** For what only stands beside. */
export function Nothing(): null {
  return null;
}

export function FailedPage({ error }: { readonly error: unknown }): ReactElement {
  if (error instanceof NotLoaded)
    return (
      <Alert color="orange" title={texts.couldNotLoadPage} role="alert">
        {inWords(error)}
        <WhenBack />
      </Alert>
    );
  return (
    <Alert color="red" title={texts.somethingWentWrong} role="alert">
      {inWords(error)}
      <Button mt="sm" display="block" onClick={() => location.reload()}>
        {texts.reload}
      </Button>
    </Alert>
  );
}
