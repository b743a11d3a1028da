"""Formulas of metrics as mathematics, for the pages that make_pages.py writes.

Rank i holds a document of label r_i; R documents are relevant, N are judged and not relevant.
"""

_STOP = r"R_i\prod_{j<i}(1-R_j)"
_GAINS = r"g_i=\sum_t\mathrm{rel}_{it}(1-\alpha)^{c_{it}}"

FORMULAS = {
    "ndcg": r"\mathrm{nDCG@}k=\frac{\mathrm{DCG@}k}{\mathrm{IDCG@}k},\qquad"
    r"\mathrm{DCG@}k=\sum_{i=1}^{k}\frac{2^{r_i}-1}{\log_2(1+i)}",
    "dcg": r"\mathrm{DCG@}k=\sum_{i=1}^{k}g(r_i)\,d(i),\qquad g(r)=2^r-1,\qquad d(i)=\frac{1}{\log_2(1+i)}",
    "cg": r"\mathrm{CG@}k=\sum_{i=1}^{k}r_i",
    "acg": r"\mathrm{ACG@}k=\frac{1}{k}\sum_{i=1}^{k}r_i",
    "pwa": r"\mathrm{PWA@}k=\frac{\sum_{i=1}^{k}r_i/i}{\sum_{i=1}^{k}1/i}",
    "snips": r"\mathrm{SNIPS@}k=\frac{\sum_{i=1}^{k}g(r_i)\,d(i)}{\sum_{\mathrm{judged}}g(r)}",
    "wap": r"\mathrm{WAP@}k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}\mathrm{ACG@}i",
    "q": r"Q@k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}"
    r"\frac{\mathrm{hits}_i+\beta\,\mathrm{CG}_i}{i+\beta\,\mathrm{ICG}_i}",
    "map": r"\mathrm{AP@}k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}P@i",
    "mrr": r"\mathrm{RR@}k=\frac{1}{\min\{i\le k: i\ \mathrm{relevant}\}}",
    "precision": r"P@k=\frac{\mathrm{hits}_k}{k}",
    "recall": r"R@k=\frac{\mathrm{hits}_k}{R}",
    "f": r"F@k=\frac{(1+\beta^2)\,P\,R}{\beta^2P+R}",
    "fallout": r"\mathrm{fallout@}k=\frac{k-\mathrm{hits}_k}{N}",
    "err": rf"\mathrm{{ERR@}}k=\sum_{{i=1}}^{{k}}\frac{{1}}{{i}}\,{_STOP},\qquad"
    r"R_i=\frac{2^{r_i}-1}{2^{\mathtt{max\_grade}}}",
    "nerr": r"\mathrm{nERR@}k=\frac{\mathrm{ERR@}k}{\mathrm{IERR@}k}",
    "pfound": rf"\mathrm{{pFound@}}k=\sum_{{i=1}}^{{k}}\mathtt{{decay}}^{{\,i-1}}\,{_STOP}",
    "rbp": r"\mathrm{RBP@}k=(1-p)\sum_{i=1}^{k}u_i\,p^{i-1}",
    "alpha_dcg": rf"\alpha\text{{-}}\mathrm{{DCG@}}k=\sum_{{i=1}}^{{k}}g_i\,d(i),\qquad {_GAINS}",
    "alpha_ndcg": r"\alpha\text{-}\mathrm{nDCG@}k="
    r"\frac{\alpha\text{-}\mathrm{DCG@}k}{\text{ideal }\alpha\text{-}\mathrm{DCG@}k}",
    "err_ia": r"\mathrm{ERR\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}\mathrm{ERR}_t@k",
    "map_ia": r"\mathrm{AP\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}\mathrm{AP}_t@k",
    "p_ia": r"\mathrm{P\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}P_t@k",
    "nrbp": r"\mathrm{NRBP@}k=\frac{1-(1-\alpha)p}{T}\sum_{i=1}^{k}g_i\,p^{i-1}",
    "bpref": r"\mathrm{bpref}=\frac{1}{R}\sum_{i\ \mathrm{relevant}}\left(1-\frac{\min(n_i,m)}{m}\right),"
    r"\qquad m=\min(R,N)",
    "infap": r"\mathrm{infAP}=\frac{1}{R}\sum_{i\ \mathrm{relevant}}\left(\frac{1}{i}+\frac{i-1}{i}\,"
    r"\mathrm{pooled}_i\,\frac{\mathrm{rel}_i+e}{\mathrm{rel}_i+\mathrm{non}_i+2e}\right)",
    "rbp_residual": r"\mathrm{residual@}k=1-(1-p)\sum_{\substack{i\le k\\ i\ \mathrm{judged}}}p^{i-1}",
    "rprec": r"\mathrm{Rprec}=\frac{\mathrm{hits}_R}{R}",
    "iprec": r"\mathrm{iprec}(x)=\max_{i\le k,\ R@i\ge x}P@i",
    "kendall": r"\tau=\frac{P-Q}{\sqrt{(P+Q+T)(P+Q+U)}}",
    "spearman": r"\rho=\frac{\sum_ia_ib_i}{\sqrt{\sum_ia_i^2\,\sum_ib_i^2}}",
    "relevance_position": r"\frac{\sum_ii\,r_i}{\sum_ir_i}",
    "rbo": r"\mathrm{RBO@}k=\frac{1-p}{p}\sum_{d=1}^{k}\frac{p^dX_d}{d}+\frac{p^kX_k}{k}",
    "mse": r"\mathrm{MSE}=\frac{1}{n}\sum_{i=1}^{n}(r_i-s_i)^2",
    "rmse": r"\mathrm{RMSE}=\sqrt{\frac{1}{n}\sum_{i=1}^{n}(r_i-s_i)^2}",
    "mae": r"\mathrm{MAE}=\frac{1}{n}\sum_{i=1}^{n}|r_i-s_i|",
    "set_f": r"\mathrm{set}_F=\frac{(1+\beta^2)\,\mathrm{hits}}{\beta^2R+n}",
}
