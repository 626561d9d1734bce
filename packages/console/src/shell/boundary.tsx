import { Alert, Button } from '@mantine/core';
import { Component, type ComponentType, type ReactElement, type ReactNode } from 'react';
import { inWords } from '../components/in-words.ts';
import { NotLoaded } from '../components/lazily.ts';
import { texts } from './texts.ts';
import { WhenBack } from './when-back.tsx';

interface Props {
  /** Shown in place of the failed part. */
  readonly fallback: ComponentType<{ readonly error: unknown }>;
  readonly children: ReactNode;
}

/** Contains a rendering error: only this part of the page fails. */
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

/** For secondary parts: shows nothing when they fail. */
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
