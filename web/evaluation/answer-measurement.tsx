/** What a measurement of the answers of a chat is made with. */
import { useState } from 'react';
import { useDatasets } from '../datasets/dataset-data.js';
import { useModels } from '../editor/model/use-models.js';
import { useClient } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { MODES, type Mode, useChats } from '../stages/chat-server.js';
import { stagesTexts } from '../stages/stages-texts.js';
import { DatasetBoxes } from './dataset-boxes.js';
import style from './evaluation.module.css';
import { evaluationTexts } from './evaluation-texts.js';
import { asAnswersFile, measureAnswers } from './measure-answers.js';
import { StartMeasurement } from './start-measurement.js';
import type { MeasurementProps } from './use-measurement.js';

/** A chat as it is asked; empty texts: as it is set. */
interface Choice {
  readonly chat: string;
  readonly mode: Mode | '';
  readonly model: string;
  readonly datasets: readonly string[];
  readonly isJudged: boolean;
}

const AS_SET: Choice = { chat: '', mode: '', model: '', datasets: [], isJudged: false };

export function AnswerMeasurement({ file, slot, measurement, onResult }: MeasurementProps) {
  const words = useTexts(evaluationTexts);
  const { chat: chatWord, all, anyMode, modes, mode: modeWord } = useTexts(stagesTexts);
  const client = useClient();
  const [choice, setChoice] = useState(AS_SET);
  const change = (changed: Partial<Choice>) => setChoice((now) => ({ ...now, ...changed }));
  const datasets = useDatasets('').data?.pages.flat() ?? [];
  const chats = useChats().data ?? [];
  const models = useModels().filter(({ kinds }) => kinds.length === 0 || kinds.includes('chat'));
  const { chat, mode, model, isJudged } = choice;
  const measure = () => {
    if (file === undefined) return;
    const { name, questions } = file;
    const asked = {
      questions,
      datasets: choice.datasets,
      chat: chat || undefined,
      mode: mode || undefined,
      model: model || undefined,
      judge: isJudged ? '' : undefined,
    };
    const named = chats.find(({ id }) => id === chat)?.name ?? all;
    const about = [words.measuredAnswers(named), mode && modes[mode], model].filter(Boolean).join(', ');
    measurement.start(measureAnswers(client, asked), questions.length, (answers) =>
      onResult(slot, name, asAnswersFile(about, answers)),
    );
  };
  return (
    <>
      <p className={style.soft}>{words.answersHint}</p>
      <div className={style.tools}>
        <Options
          name={chatWord}
          value={chat}
          usual={all}
          options={chats.map(({ id, name }) => [id, name])}
          onChange={(id) => change({ chat: id })}
        />
        <Options
          name={modeWord}
          value={mode}
          usual={anyMode}
          options={MODES.map((one) => [one, modes[one]])}
          onChange={(one) => change({ mode: MODES.find((known) => known === one) ?? '' })}
        />
        <Options
          name={words.model}
          value={model}
          usual={words.usualModel}
          options={models.map(({ id }) => [id, id])}
          onChange={(id) => change({ model: id })}
        />
        <label>
          <input type="checkbox" checked={isJudged} onChange={({ target }) => change({ isJudged: target.checked })} />{' '}
          {words.judge}
        </label>
      </div>
      <DatasetBoxes
        legend={words.onlyDatasets}
        datasets={datasets}
        chosen={choice.datasets}
        onChange={(ids) => change({ datasets: ids })}
      />
      <StartMeasurement slot={slot} measurement={measurement} canStart={file !== undefined} onStart={measure} />
    </>
  );
}

interface OptionsProps {
  readonly name: string;
  readonly value: string;
  /** What the empty value means. */
  readonly usual: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}

function Options({ name, value, usual, options, onChange }: OptionsProps) {
  return (
    <label>
      {name}{' '}
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{usual}</option>
        {options.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
