import { mount } from 'svelte'
import 'uplot/dist/uPlot.min.css'
import './style/base.css'
import './style/controls.css'
import './style/layout.css'
import App from './App.svelte'

const target = document.getElementById('console')
if (target) mount(App, { target })
